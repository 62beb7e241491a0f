import { type CallOptions, ToolError, toExecutorResult } from '@tool-hub/core'
import type { Hub } from '@tool-hub/runtime/hub'
import { ModelTools, type RunOptions } from './model-tools.ts'

/** A call as a model makes it. */
export interface ExecutorCall {
  /** Returned as `tool_call_id` of the result; approver, hooks and record receive it as `requestId`. */
  readonly id: string
  /** Canonical, wire or dialect name of the tool. */
  readonly name: string
  /** JSON text, as it came from the model, or the arguments themselves. */
  readonly arguments: string | object
}

/**
 * Options for all calls of an executor: run, session, caller, goal, signal, timeout, approver. A `requestId` replaces
 * the id of the call.
 */
export type ExecutorConfig = RunOptions & Pick<CallOptions, 'requestId' | 'goalId'>

/** Executes calls of tools, one at a time or concurrently. */
export interface ToolExecutor {
  /**
   * Makes a call. Resolves with what the tool returned, or with its failure (`is_error`). Rejects with a `ToolError`
   * if the tool was never executed: it does not exist, its arguments are invalid, the policy or a person denies it, or
   * a limit is reached.
   */
  execute(call: ExecutorCall, options?: ExecutorConfig): Promise<ReturnType<typeof toExecutorResult>>
}

/**
 * Creates an executor for the tools of a hub; every call goes through the same pipeline as any other.
 * @example
 * const executor = createExecutor(hub, { run: 'night-shift' })
 * const { content, is_error } = await executor.execute({ id: 'call_1', name: 'read_file', arguments: '{"path":"a.txt"}' })
 */
export function createExecutor(hub: Hub, config: ExecutorConfig = {}): ToolExecutor {
  const tools = new ModelTools(hub, config, () => [])
  return {
    async execute({ id, name, arguments: given }, options) {
      const merged = { ...config, ...options }
      const result = await tools.call({ ...(merged.requestId === undefined && { id }), name, given }, merged)
      if (result.ok || result.meta.attempts > 0) return toExecutorResult(result, id)
      const { code, message, fix, retryable } = result.error
      throw new ToolError(code, message, { fix, retryable })
    },
  }
}
