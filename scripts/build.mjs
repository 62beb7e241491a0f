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
// What is not TypeScript: the grammar of the second parser, and the bridge that runs alone inside a sandbox.
copyFileSync('node_modules/tree-sitter-bash/tree-sitter-bash.wasm', 'dist/hub/tree-sitter-bash.wasm')
copyFileSync('src/guards/process/bridge/bridge-main.mjs', 'dist/guards/process/bridge/bridge-main.mjs')
chmodSync('dist/cli/main.js', 0o755)
