import type { ProgramTable } from '../program-table.ts'
import { CARGO, MAKE } from './build-tools.ts'
import { BUILTINS, WRAPPER_PROGRAMS } from './builtins.ts'
import { ARCHIVES, FILES } from './files.ts'
import { GIT } from './git.ts'
import { GO } from './go.ts'
import { CURL, WGET } from './http-clients.ts'
import { INTERPRETERS, PYTHON } from './interpreters.ts'
import { CONTAINERS, REMOTE } from './machines.ts'
import { JS_TOOLS, NODE, NPM } from './node.ts'
import { FIND, READERS, SEARCH } from './readers.ts'
import { TEXT_PROGRAMS, VIEWERS } from './text.ts'

/** Every program that something is known of. */
export const TABLES: readonly ProgramTable[] = [
  ...ARCHIVES,
  ...BUILTINS,
  ...CARGO,
  ...CONTAINERS,
  ...CURL,
  ...FILES,
  ...FIND,
  ...GIT,
  ...GO,
  ...INTERPRETERS,
  ...JS_TOOLS,
  ...MAKE,
  ...NODE,
  ...NPM,
  ...PYTHON,
  ...READERS,
  ...REMOTE,
  ...SEARCH,
  ...TEXT_PROGRAMS,
  ...VIEWERS,
  ...WGET,
  ...WRAPPER_PROGRAMS,
]
