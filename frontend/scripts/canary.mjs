// Runs the type check on canary/wrong.ts and succeeds only if it finds both errors in it: a plain one, and one that only
// the strict options find.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const top = fileURLToPath(new URL('..', import.meta.url))
const run = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'canary/tsconfig.json'], { cwd: top, encoding: 'utf8' })
const wanted = [/wrong\.ts\(\d+,\d+\): error TS2322: Type 'string' is not assignable to type 'number'/,
  /wrong\.ts\(\d+,\d+\): error TS2322: Type 'string \| undefined' is not assignable/]
const missing = wanted.filter((pattern) => !pattern.test(run.stdout))
if (run.status === 0 || missing.length > 0) {
  console.error(`the canary was not found: ${missing.join(', ')}\n${run.stdout}${run.stderr}`)
  process.exit(1)
}
console.log('the type check finds the canary')
