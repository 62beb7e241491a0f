export { couldName } from './glob-overlap.ts'
export { COMMAND_GROUPS, inWorstCase, partAsPattern, readPatternPart, SHAPE } from './match-command.ts'
export { compilePattern, escapeGlob, literalOf, readPath, readTarget, targetAsPattern } from './match-target.ts'
export {
  type BrokenPattern,
  MAX_TARGET_LENGTH,
  type Pattern,
  type PolicyTarget,
  TARGET_KINDS,
  type TargetKind,
} from './target.ts'
