import { lazyModule } from '../../../disk/lazy-module.ts'
import { ToolError } from '../../../errors.ts'
import { Meter } from '../meter.ts'
import { invalidPath } from './invalid-path.ts'

const loadJsonpath = lazyModule(() => import('./jsonpath.ts'))
const loadJmespath = lazyModule(() => import('./jmespath.ts'))

const CHEAPER = 'Name the keys instead of searching everywhere (.., *), filter once, or select in two calls.'

type Language = (json: unknown, path: string, meter: Meter) => unknown

/** Selects by JSONPath when the path begins with `$`, by JMESPath otherwise; a language is loaded when first used. */
export async function select(json: unknown, path: string): Promise<unknown> {
  if (path.startsWith('$')) {
    const { selectByJsonPath } = await loadJsonpath()
    return run(selectByJsonPath, json, path)
  }
  if (path.trimStart().startsWith('$')) throw invalidPath('a JSONPath has no blanks before its $.', { index: 0 })
  const { selectByJmesPath } = await loadJmespath()
  return run(selectByJmesPath, json, path)
}

function run(language: Language, json: unknown, path: string): unknown {
  try {
    return language(json, path, new Meter('The path', CHEAPER)) ?? null
  } catch (error) {
    if (ToolError.is(error)) throw error
    // The stack is the only bound on how deep a path of a few thousand characters can nest.
    if (error instanceof RangeError) throw invalidPath('it is nested too deeply.', { cause: error })
    throw error
  }
}
