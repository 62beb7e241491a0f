/** What a section of the config file is made of: keys with defaults and descriptions, and values with units. */

export { fillAt, fillReferences, type ReferenceSources } from './references.ts'
export {
  countSchema,
  duration,
  key,
  type LogOptions,
  logSchema,
  programAccessSchema,
  type ResolvePath,
  rate,
  size,
  text,
  texts,
  toLog,
  toProgramAccess,
  withoutUndefined,
} from './section.ts'
export { formatDuration, formatSize, parseDuration, parseRate, parseSize } from './units.ts'
