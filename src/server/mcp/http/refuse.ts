/** A request that is turned away before it reaches any tool. */
export function refuse(status: number, message: string, code = -32000): Response {
  const headers = status === 405 ? { Allow: 'POST' } : undefined
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers })
}
