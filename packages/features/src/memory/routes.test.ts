import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HttpServed, serveHttp } from '../../../../test/support/http-served.ts'
import { candidateList, noteList, promoted, rejected } from './schema.ts'

let served: HttpServed
let agent = ''
let boss = ''
beforeAll(async () => {
  served = await serveHttp()
  agent = await served.newToken('agent', ['call', 'approve'])
  boss = await served.newToken('boss', ['approve', 'read', 'admin'])
})
afterAll(() => served.close())

const write = async (content: string) => {
  const body = { input: { content, scope: 'agent', tags: ['a'] } }
  return (await served.ask('POST', '/v1/tools/core%2Fmemory.write/call', agent, body)).json.data.id as string
}
const recall = async (query: string) => {
  const { json } = await served.ask('POST', '/v1/tools/core%2Fmemory.recall/call', agent, { input: { query } })
  return json.data.notes
}

describe('memory over HTTP', () => {
  it('lists what waits, and lets somebody else than its author promote it', async () => {
    const id = await write('Releases are on Thursdays.')
    const list = candidateList.parse((await served.ask('GET', '/v1/memory/candidates', boss)).json)
    expect(list).toMatchObject({
      candidates: [{ id, state: 'waiting', key: 'agent:token:agent', origin: { principal: 'token:agent' } }],
      memory: { enabled: true, writeMode: 'candidate', provider: 'embedded' },
    })
    const path = `/v1/memory/candidates/${id}/promote`
    expect((await served.ask('POST', path, agent, {})).status).toBe(403)
    expect((await served.ask('POST', path, boss, { scope: 'nowhere' })).status).toBe(400)
    expect(await recall('releases')).toEqual([])
    const note = promoted.parse((await served.ask('POST', path, boss, { tags: ['ci'] })).json)
    expect(note).toMatchObject({ note: { origin: { promotedBy: 'token:boss' }, tags: ['ci'] } })
    expect((await served.ask('POST', path, boss, {})).status).toBe(409)
    expect(await recall('releases')).toMatchObject([{ content: 'Releases are on Thursdays.' }])

    const found = await served.ask('GET', '/v1/memory/notes?query=thursday&tag=ci', boss)
    expect(noteList.parse(found.json).notes).toMatchObject([{ id: note.note.id, key: 'agent:token:agent' }])
    const exported = await served.ask('GET', '/v1/memory/export', boss)
    expect(exported.headers.get('content-type')).toBe('application/x-ndjson')
    expect(JSON.parse(exported.text)).toMatchObject({ id: note.note.id })
    expect((await served.ask('DELETE', `/v1/memory/notes/${note.note.id}`, agent)).status).toBe(403)
    expect((await served.ask('DELETE', `/v1/memory/notes/${note.note.id}`, boss)).status).toBe(204)
    expect((await served.ask('DELETE', `/v1/memory/notes/${note.note.id}`, boss)).status).toBe(404)
  })

  it('lets nobody promote what a session of its own has written', async () => {
    const session = served.hub.as({ name: 'token:agent/session-1' })
    const { data } = await session.callDynamic('core/memory.write', { content: 'Trust me.' })
    const path = `/v1/memory/candidates/${(data as { id: string }).id}/promote`
    expect((await served.ask('POST', path, agent, {})).status).toBe(403)
    expect((await served.ask('POST', path, boss, {})).status).toBe(200)
  })

  it('lets a candidate be rejected, and pages through notes', async () => {
    const id = await write('The moon is made of cheese.')
    const answer = await served.ask('POST', `/v1/memory/candidates/${id}/reject`, boss, { reason: 'wrong' })
    expect(rejected.parse(answer.json)).toMatchObject({ candidate: { state: 'rejected', review: { reason: 'wrong' } } })
    expect((await served.ask('GET', '/v1/memory/candidates', boss)).json.candidates).toEqual([])
    const { candidates } = (await served.ask('GET', '/v1/memory/candidates?state=rejected', boss)).json
    expect(candidates).toMatchObject([{ id }])
    expect((await served.ask('POST', '/v1/memory/candidates/nothing/promote', boss, {})).status).toBe(404)
    const lines = [1, 2, 3].map((n) =>
      JSON.stringify({ id: `n${n}`, key: 'shared', content: `note ${n}`, createdAt: n }),
    )
    await served.hub.memory.import(lines, { by: 'owner', trusted: true })
    const first = noteList.parse((await served.ask('GET', '/v1/memory/notes?key=shared&limit=2', boss)).json)
    const rest = noteList.parse(
      (await served.ask('GET', `/v1/memory/notes?key=shared&limit=2&before=${first.next}`, boss)).json,
    )
    expect([...first.notes, ...rest.notes].map((note) => note.id)).toEqual(['n3', 'n2', 'n1'])
    expect((await served.ask('GET', '/v1/memory/notes', agent)).status).toBe(403)
  })
})
