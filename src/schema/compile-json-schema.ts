import { lazyModule } from '../disk/lazy-module.ts'
import type { CompiledSchema, JsonObject, SchemaResult, Side } from './compiled-schema.ts'
import { toModernSchema } from './to-modern-schema.ts'

const loadAjvEngine = lazyModule(() => import('./ajv-engine.ts'))

type Engine = typeof import('./ajv-engine.ts')
type Check = (value: unknown) => SchemaResult

let engine: Engine | undefined

/** Compiles TypeBox and plain JSON Schema; ajv loads with the first value, and each schema compiles with its own first. */
export function compileJsonSchema(schema: object, side: Side): CompiledSchema {
  let json: JsonObject | undefined
  let check: Check | undefined

  const jsonSchema = (): JsonObject => {
    json ??= toModernSchema(schema, side)
    return json
  }
  const checkWith = ({ createCheck }: Engine): Check => {
    check ??= orThrowAgain(() => createCheck(jsonSchema(), side))
    return check
  }
  return {
    jsonSchema,
    validate(value) {
      if (check) return check(value)
      if (engine) return checkWith(engine)(value)
      return load().then((loaded) => checkWith(loaded)(value))
    },
  }
}

async function load(): Promise<Engine> {
  engine = await loadAjvEngine()
  return engine
}

/** A schema that does not compile fails every value the same way, without compiling again. */
function orThrowAgain(make: () => Check): Check {
  try {
    return make()
  } catch (error) {
    return () => {
      throw error
    }
  }
}
