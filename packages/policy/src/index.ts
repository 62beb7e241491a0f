export { checkPolicy, describeWarning, type PolicyWarning } from './check-policy.ts'
export { compilePolicy, type Policy, type PolicyLayers } from './compile-policy.ts'
export { describeConstraints } from './constraints.ts'
export {
  allowFiles,
  askedParts,
  decide,
  describeCommandPatterns,
  describeDoubt,
  describeJudgement,
  findDeciding,
  type JudgedPart,
  judgePart,
  offerCommandPatterns,
  patternRule,
  requestsFor,
  risksOfPart,
} from './decide/index.ts'
export { DEFAULT_POLICY } from './default-policy.generated.ts'
export { describeRule, describeSource, effectOf, explainDecision } from './describe.ts'
export {
  type CallArguments,
  type ControlValue,
  isTextArgument,
  lastWordsOf,
  UserWords,
  unprovenValues,
  type ValueEvidence,
} from './evidence/index.ts'
export { fromPolicyYaml } from './from-policy-yaml.ts'
export { escapeGlob } from './match/index.ts'
export type { Decision, DemandDecision, PolicyQuestion } from './question.ts'
export { STRICTNESS } from './question.ts'
export type { CommandNeed } from './suggest/index.ts'
export { type ReviewedCall, type SuggestedRule, type SuggestedTool, suggestRules } from './suggest/index.ts'
export {
  compilePins,
  compileVisibility,
  dialectOf,
  doubtHiddenPartners,
  doubtNarrowGroup,
  expandToolGroups,
  groupsOf,
  isToolAllowedByPolicy,
  normaliseName,
  TOOL_GROUPS,
  type ToolNames,
  type ToolPolicy,
  type ToolVisibility,
  unknownVisibilityEntries,
} from './visibility.ts'
