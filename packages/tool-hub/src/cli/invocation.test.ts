import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ownCommand } from './invocation.ts'

const main = join(process.cwd(), 'dist/cli/main.js')
const installed = '/usr/local/bin/tool-hub'

it.each([
  ['npx', { npm_command: 'exec' }, installed, 'npx tool-hub'],
  ['an old npx', { npm_lifecycle_event: 'npx' }, installed, 'npx tool-hub'],
  ['npm start', { npm_command: 'start', npm_lifecycle_event: 'start' }, main, 'node dist/cli/main.js'],
  [
    'npm start from a folder below',
    { npm_lifecycle_event: 'start', INIT_CWD: join(process.cwd(), 'src') },
    main,
    'node ../dist/cli/main.js',
  ],
  ['a script of a package that has it', { npm_lifecycle_event: 'check' }, installed, 'npx tool-hub'],
  ['the built file', {}, main, 'node dist/cli/main.js'],
  ['a path with blanks', {}, join(process.cwd(), "a b's/main.js"), `node 'a b'\\''s/main.js'`],
  ['the installed command', {}, installed, 'tool-hub'],
])('prints what can be pasted after %s', (_, env, file, command) => {
  expect(ownCommand(env, file)).toBe(command)
})
