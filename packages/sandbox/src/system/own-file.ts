import { readFile } from 'node:fs/promises'

/** Whether this is a build, where every module of this package that is run by its name ends in .js. */
const isBuilt = !import.meta.url.endsWith('.ts')

/** Node cannot run .ts; a test run from the sources uses this hook. A release never does. */
const TYPESCRIPT_HOOK = '../../../../test/support/load-typescript.mjs'

/**
 * Returns the location of a file that is read or run, not imported, by its package and its path in the sources of that
 * package. A build bundles modules, so only this one, which stays where it is, knows where the others are. The package
 * tool-hub is the root of a build.
 * @example
 * ownFile('sandbox/exec/bridge/bridge-main.mjs')
 */
export function ownFile(path: string): URL {
  const [unit, ...rest] = path.split('/')
  return new URL(
    isBuilt ? `../${path.replace(/^tool-hub\//, '')}` : `../../../${unit}/src/${rest.join('/')}`,
    import.meta.url,
  )
}

/** Returns the folder that has all code of tool-hub: `dist` of the package, or `packages` of a checkout. */
export function ownCodeFolder(): URL {
  return new URL(isBuilt ? '..' : '../../..', import.meta.url)
}

/** Returns the folder of the package tool-hub. */
export function ownPackageFolder(): URL {
  return new URL(isBuilt ? '../..' : '../../../tool-hub/', import.meta.url)
}

/** Returns the location of a file that only a build has, such as the page of the service. */
export function builtFile(path: string): URL {
  return new URL(isBuilt ? `../${path}` : `../../../tool-hub/dist/${path}`, import.meta.url)
}

/** A module that runs in a thread or process of its own, and the flags that Node needs for it. */
export interface OwnModule {
  readonly file: URL
  readonly flags: readonly string[]
}

/** Returns a module by its package and its path in the sources of that package, without its extension. */
export function ownModule(path: string): OwnModule {
  if (isBuilt) return { file: ownFile(`${path}.js`), flags: [] }
  const joined = joinedModules()[path]
  if (joined !== undefined) return { file: new URL(joined), flags: [] }
  return { file: ownFile(`${path}.ts`), flags: ['--import', new URL(TYPESCRIPT_HOOK, import.meta.url).href] }
}

/** A test run bundles the modules that it starts most: test/support/join-own-modules.ts. A release never does. */
function joinedModules(): Readonly<Record<string, string>> {
  return JSON.parse(process.env.TOOL_HUB_TEST_MODULES ?? '{}')
}

/** Reads a file that only a build has, by its path below `dist`. Returns `undefined` if nothing was built. */
export async function readBuiltFile(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(builtFile(path))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
