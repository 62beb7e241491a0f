// Renders docs/errors.md from the error table in src/errors.ts.

/** The page, whole. */
export async function generateErrorDocs() {
  const { ERRORS } = await import('../src/errors.ts')
  const rows = Object.entries(ERRORS).map(
    ([code, { meaning, fix, status, retryable, blame }]) =>
      `| \`${code}\` | ${meaning} | ${fix} | ${status} | ${retryable ? 'yes' : 'no'} | ${blame} |`,
  )
  return `# Errors

A call never throws for a tool's failure: it gives back \`ok: false\` with one of these codes. The message has the numbers,
\`fix\` says what to change and where, \`retryable\` whether the same call may work later. A defect (\`INTERNAL\`) shows the
model its call id; the stack is in the audit only. "Who acts" is who can mend it; only failures of the tool count against
its circuit breaker.

This page is made from \`src/errors.ts\` by \`npm run generate\`.

| code | what happened | what to do | status | retryable | who acts |
|---|---|---|---|---|---|
${rows.join('\n')}

\`\`\`ts
const result = await hub.call(saveNote, { path: '../outside.md', text: 'x' })
if (!result.ok) console.log(result.error.code, result.error.message, result.error.fix.hint)
\`\`\`

Tools throw \`ToolError\`. Any other error that your tool throws ends the call with \`TOOL_FAILED\`: the model reads its
message, without secrets, and the record keeps the stack.

\`\`\`ts
throw new ToolError('FILE_TOO_LARGE', \`\${path} has \${size} bytes, the limit is \${limit}.\`, {
  hint: 'Read a part with offset and limit.',
  details: { size, limit }, // audit only
})
\`\`\`
`
}
