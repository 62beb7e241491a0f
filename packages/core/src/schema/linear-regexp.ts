import { RE2JS } from 're2js'
import { ToolError } from '../errors.ts'

/** The part of a regular expression that ajv uses; `toString` is the key it remembers it by. */
interface LinearRegExp {
  test(text: string): boolean
  toString(): string
}

/**
 * Stands in for `new RegExp` inside ajv: time grows with the text only, because a `pattern` of somebody's schema must
 * not be able to hang the process.
 */
export const linearRegExp = Object.assign(compile, { code: 'linearRegExp' })

function compile(pattern: string): LinearRegExp {
  const expression = parse(pattern)
  return { test: (text) => expression.test(text), toString: () => pattern }
}

function parse(pattern: string): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace('error parsing regexp: ', '') : String(cause)
    throw new ToolError('CONFIG_INVALID', `The pattern ${JSON.stringify(pattern)} cannot be used: ${reason}.`, {
      hint: 'Patterns run in linear time (RE2): no lookaround, no backreference, no repeat over 1000. Say lengths with minLength and maxLength.',
      cause,
    })
  }
}
