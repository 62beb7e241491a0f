/** As many tools as a team has: the trivial one, and others that only stand in the list. */
export function echoTools(count) {
  return Array.from({ length: count }, (_, index) => ({
    name: index === 0 ? 'echo' : `echo_${index}`,
    description: `Give the text back, as tool number ${index} does.`,
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string', description: 'What to say.' }, times: { type: 'integer', minimum: 1 } },
      required: ['text'],
      additionalProperties: false,
    },
  }))
}
