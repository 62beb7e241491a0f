import { createContext } from 'react'
import type { Problems } from './check-value.ts'
import type { JsonSchema } from './json-schema.ts'

/** What every field of a form needs: the whole schema, for references, and what is wrong. */
export const FormContext = createContext<{ readonly root: JsonSchema; readonly problems: Problems }>({
  root: {},
  problems: new Map(),
})
