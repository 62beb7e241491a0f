import type { ProgramTable } from './program-table.ts'
import { ARCHIVES } from './table/archives.ts'
import { BUILTINS } from './table/builtins.ts'
import { CARGO } from './table/cargo.ts'
import { CONTAINERS } from './table/containers.ts'
import { CURL } from './table/curl.ts'
import { FILES } from './table/files.ts'
import { FIND } from './table/find.ts'
import { GIT } from './table/git.ts'
import { GO } from './table/go.ts'
import { INTERPRETERS } from './table/interpreters.ts'
import { JS_TOOLS } from './table/js-tools.ts'
import { MAKE } from './table/make.ts'
import { NODE } from './table/node.ts'
import { NPM } from './table/npm.ts'
import { PYTHON } from './table/python.ts'
import { READERS } from './table/readers.ts'
import { REMOTE } from './table/remote.ts'
import { SEARCH } from './table/search.ts'
import { TEXT } from './table/text.ts'
import { VIEWERS } from './table/viewers.ts'
import { WGET } from './table/wget.ts'
import { WRAPPERS } from './table/wrappers.ts'

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
  ...TEXT,
  ...VIEWERS,
  ...WGET,
  ...WRAPPERS,
]
