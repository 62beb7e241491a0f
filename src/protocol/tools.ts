import { z } from 'zod'

/** Query of `GET /v1/tools`. */
export const toolQuery = z.object({
  /** `hub` (the default) says everything; the others are what a provider's API takes. */
  form: z.enum(['hub', 'openai', 'anthropic', 'mcp']).default('hub'),
  dialect: z.string().optional(),
  /** Also those that this principal does not see, and why. */
  hidden: z.coerce.boolean().optional(),
})

/** A tool in the hub's own form. */
export const toolEntry = z.object({
  /** Canonical. */
  tool: z.string(),
  /** As models call it. */
  name: z.string(),
  title: z.string().optional(),
  description: z.string(),
  /** The form that it came in: `core`, `mcp`, `langchain` and others. */
  kind: z.string(),
  group: z.string(),
  capabilities: z.array(z.string()),
  visible: z.boolean(),
  why: z.string().optional(),
  /** JSON Schemas. */
  parameters: z.record(z.string(), z.unknown()),
  output: z.record(z.string(), z.unknown()).optional(),
})
export type ToolEntry = z.infer<typeof toolEntry>
export const toolList = z.object({ tools: z.array(toolEntry) })
