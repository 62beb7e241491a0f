export { after, allSettled, Later, once, untilAborted } from './async.ts'
export { escapeJson, escapeLine, escapeText, revealJson, revealLine, revealText } from './escape-text.ts'
export {
  canonicalJson,
  hashJson,
  noteTextHash,
  outlineJson,
  SigningKey,
  sha256,
  signWebhook,
  webhookKey,
} from './hash.ts'
export { holdsHidden, visibleText, withoutHidden } from './hidden-text.ts'
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
export { likeness, mergeRanks, toUnitVector } from './ranking.ts'
export {
  asSentence,
  byteOrderMark,
  errnoOf,
  isWithin,
  LineSplitter,
  LONE_SURROGATE,
  numberLines,
  parseAmount,
  readBody,
  shortPath,
  TIME_UNITS,
  VERSION,
  withStop,
} from './text.ts'
export { turnFor, turnToBegin } from './turns.ts'
export { COMMON_WORDS, foldLetters, isUnspaced, withoutPlural, wordPieces } from './words.ts'
