import { expect, it } from 'vitest'
import { partWords } from './parts'

// The settings of a demo once said that the tray's program could not be started, as if something were broken.
it.each([
  ['a tray', 'tray', { available: true }, false, 'check', ''],
  ['no tray program', 'tray', { available: false, code: 'tray_missing' }, false, 'triangle', 'part.tray_missing'],
  ['no tray in a demo', 'tray', { available: false, code: 'tray_missing' }, true, 'dash', 'part.demo'],
  ['no notifications in a demo', 'notifications', { available: false, code: 'no_notification_service' }, true, 'triangle', 'part.no_notification_service'],
  ['no reason', 'notifications', { available: false }, false, 'triangle', 'part.'],
] as const)('%s', (_, id, part, demo, shape, why) => {
  const words = partWords(id, part, demo)
  expect([words.shape, words.why, words.otherwise]).toEqual([shape, why, `settings.${id}.missing`])
})
