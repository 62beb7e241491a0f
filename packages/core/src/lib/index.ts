export { type Awaitable, after, allSettled, Later, once, turnFor, turnToBegin, untilAborted } from './async.ts'
export { escapeJson, escapeLine, escapeText, revealJson, revealLine, revealText } from './escape-text.ts'
export {
  artifactHash,
  canonicalJson,
  hashJson,
  noteTextHash,
  outlineJson,
  SigningKey,
  sha256,
  signWebhook,
  webhookKey,
} from './hash.ts'
export {
  copyAsJson,
  deepFreeze,
  type Immutable,
  isPlainObject,
  NOT_PLAIN,
  parseJson,
  pointerKeys,
  quotePointer,
  readablePath,
  toPointer,
  valueAt,
} from './json.ts'
export { family, histogram, type Observations, type Sample } from './metric-family.ts'
export {
  COMMON_WORDS,
  foldLetters,
  isUnspaced,
  likeness,
  mergeRanks,
  toUnitVector,
  withoutPlural,
  wordPieces,
} from './search.ts'
export {
  asSentence,
  byteOrderMark,
  errnoOf,
  holdsHidden,
  isWithin,
  LineSplitter,
  LONE_SURROGATE,
  numberLines,
  parseAmount,
  readBody,
  shortPath,
  TIME_UNITS,
  VERSION,
  visibleText,
  withoutHidden,
  withStop,
} from './text.ts'
