/** Makes so many tokens, as the owner; gives their secrets. */
export async function makeTokens(client, owner, names, scopes = ['call'], more = {}) {
  const secrets = []
  for (const name of names) {
    const { status, json, text } = await client.request('POST', '/v1/tokens', {
      token: owner,
      body: { name, scopes, ...more },
    })
    if (status < 200 || status > 299) throw new Error(`No token ${name}: ${status} ${text}`)
    secrets.push(json.secret)
  }
  return secrets
}
