export { checkPolicy, type PolicyWarning } from './check-policy.ts'
export { compilePolicy, type Policy, type PolicyLayers } from './compile-policy.ts'
export { decide, requestsFor } from './decide.ts'
export { findDeciding, risksOfPart } from './decide-command.ts'
export { DEFAULT_POLICY } from './default-policy.generated.ts'
export { describeRule, describeSource, effectOf } from './describe-rule.ts'
export { explainDecision } from './explain.ts'
export { fromPolicyYaml } from './from-policy-yaml.ts'
export { escapeGlob } from './glob.ts'
export { tellJudgement } from './judge-demand.ts'
export { type JudgedPart, judgePart, tellDoubt } from './judge-part.ts'
export { offerCommandPatterns, patternRule } from './offer-pattern.ts'
export type { Decision, DemandDecision, PolicyQuestion, PolicyQuestion as Question } from './question.ts'
export { STRICTNESS } from './strictness.ts'
export {
  doubtNarrowGroup,
  expandToolGroups,
  groupsOf,
  normaliseName,
  TOOL_GROUPS,
  type ToolNames,
} from './tool-groups.ts'
export {
  compileVisibility,
  dialectOf,
  isToolAllowedByPolicy,
  type ToolVisibility,
  unknownVisibilityEntries,
} from './visibility.ts'
