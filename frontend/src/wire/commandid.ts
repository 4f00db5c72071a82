// Command ids: UUIDs of version 7, in lower case, as the core takes them.

/** Makes a new id from the time in ms since 1970 and chance. */
export function newCommandID(now: number = Date.now()): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  let rest = now
  for (let i = 5; i >= 0; i--) {
    bytes[i] = rest % 256
    rest = Math.floor(rest / 256)
  }
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
