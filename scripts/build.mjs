// Compiles src/ into dist/ with plain tsc; a stale dist never survives a build.
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, rmSync } from 'node:fs'

rmSync('dist', { recursive: true, force: true })
const tsc = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
  stdio: 'inherit',
})
if (tsc.status !== 0) process.exit(tsc.status ?? 1)
// The default policy is compiled in; the file itself goes along for people to read.
copyFileSync('src/policy/default.yaml', 'dist/policy/default.yaml')
chmodSync('dist/cli/main.js', 0o755)
