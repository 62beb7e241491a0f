import { setTimeout as pause } from 'node:timers/promises'
import { defineTool } from '../tool-hub.mjs'

const NO_ARGUMENTS = { type: 'object', properties: {}, additionalProperties: false }

/** A tool that the suite calls by its name. The client receives what it returns, a text or blocks. */
export function fixture(name, description, execute, { input = NO_ARGUMENTS, ...rest } = {}) {
  return defineTool({ name, description, input, execute, toModel: (content) => content, ...rest })
}

/** The input of a tool with arguments that must be there. */
export function object(properties) {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

/** Waits, unless the call is stopped. */
export function wait(ms, { signal }) {
  return pause(ms, undefined, { signal })
}
