import { type AnyTool, defineTool } from '../../packages/core/src/tool.ts'
import { type Call, type DecidedCall, type FoundCall, ValidCall } from '../../packages/runtime/src/hub/pipeline/call.ts'
import { type RegisteredTool, registerable } from '../../packages/runtime/src/hub/pipeline/registered-tool.ts'

const nothing = defineTool({ name: 'x', description: 'x', input: {}, execute: () => null })

/** A call whose tool was found, as step 1 returns it. */
export function foundCall(call: Call, tool: RegisteredTool = registerable(nothing as AnyTool, 'caller')): FoundCall {
  const found = { call, tool, dialect: undefined }
  call.found = found
  return found
}

/** A call whose input is valid, as steps 3 and 4 leave it. */
export function validCall(call: Call, tool?: RegisteredTool, uses: Partial<ValidCall> = {}): ValidCall {
  const valid = Object.assign(new ValidCall(foundCall(call, tool), call.input), uses)
  call.valid = valid
  return valid
}

/** A call that policy has allowed, as step 5 returns it. */
export function decidedCall(
  call: Call,
  tool?: RegisteredTool,
  { uses, ...decision }: { readonly uses?: Partial<ValidCall> } & Partial<DecidedCall> = {},
): DecidedCall {
  const valid = validCall(call, tool, uses)
  const allowed = { effect: 'allow' as const, decision: { constraints: {} } as never, isInTaintedRun: false }
  const decided = { valid, call, tool: valid.tool, ...allowed, ...decision }
  call.decided = decided
  return decided
}
