import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { ToolError } from './errors.ts'
import { resourceError } from './failures.ts'
import { once } from './lib/index.ts'

/** Descriptors that must be free before a module is imported. The widest of our own graphs needs about 20 at a time. */
const MIN_FREE_DESCRIPTORS = 32

const registered = new Set<() => Promise<unknown>>()

/**
 * A module that is imported when it is first needed. Call this at the top level of a file only: every such module is
 * registered, and the service loads all of them before it listens.
 *
 * Node keeps a failed import for as long as the process lives, including the failed imports of its dependencies, and
 * importing it again under another URL does not retry those. So the import begins only when descriptors are free; until
 * then each use fails with OUT_OF_RESOURCES, and the next one tries again.
 * @param load Imports the module, and makes of it what is needed.
 * @param isPreloaded Whether the service loads it in advance. Default: true.
 */
export function lazyModule<T>(load: () => Promise<T>, { isPreloaded = true } = {}): () => Promise<T> {
  const loadOnce = once(() => loadWithRoom(load))
  if (isPreloaded) registered.add(loadOnce)
  return loadOnce
}

/** Passes on the failure to import an optional package. Bundlers fail without the package, unless `catch` follows the import. */
export function failAtRunTime(error: unknown): never {
  throw error
}

/** Loads every registered module, and those that they register in turn. Fails only when resources run out. */
export async function loadLazyModules(): Promise<void> {
  // A set also iterates over what is added meanwhile.
  for (const load of registered) {
    await load().catch((error) => {
      // A package that is missing or broken is reported by the call that needs it.
      if (isOutOfResources(error)) throw error
    })
  }
}

/** Whether an error says that resources ran out for the moment. */
export function isOutOfResources(error: unknown): boolean {
  return ToolError.is(error) && error.code === 'OUT_OF_RESOURCES'
}

/**
 * Imports something once descriptors are free; until then it fails with OUT_OF_RESOURCES, and Node keeps no failure.
 */
export function loadWithRoom<T>(load: () => Promise<T>): Promise<T> {
  return withFreeDescriptors('A part of tool-hub could not be loaded', load)
}

/**
 * Does something that would go wrong for good without descriptors; fails with OUT_OF_RESOURCES before it begins.
 * @param what What could not be done, as the beginning of a sentence.
 */
export async function withFreeDescriptors<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    assertFreeDescriptors()
    return await work()
  } catch (error) {
    throw resourceError(error, what) ?? error
  }
}

function assertFreeDescriptors(): void {
  const opened: number[] = []
  try {
    while (opened.length < MIN_FREE_DESCRIPTORS) opened.push(openSync(devNull, 'r'))
  } finally {
    for (const descriptor of opened) closeSync(descriptor)
  }
}
