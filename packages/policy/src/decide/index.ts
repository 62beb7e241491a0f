export { allowFiles, decide, requestsFor } from './decide.ts'
export { findDeciding, risksOfPart } from './decide-command.ts'
export { describeJudgement } from './judge.ts'
export {
  askedParts,
  describeCommandPatterns,
  describeDoubt,
  isApprovedEachTime,
  type JudgedPart,
  judgePart,
  offerCommandPatterns,
  patternRule,
} from './judge-part.ts'
export { writeRule } from './suggest-fix.ts'
