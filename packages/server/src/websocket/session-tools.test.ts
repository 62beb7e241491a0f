import { expect, it } from 'vitest'
import { RawSocket, serveWs } from '../../../../test/support/ws-served.ts'

const toolsOf = (name: string) => [{ name, description: 'Open.', input: { type: 'object', properties: {} } }]

it('a session registers tools under 16 names, and has room again when one is released', async () => {
  const served = await serveWs()
  try {
    const socket = await RawSocket.open(served.url)
    const register = (index: number, tools: object[] = toolsOf(`editor_open_${index}`)) =>
      socket.say({ type: 'tools', id: `t${index}`, name: `editor${index}`, tools } as never)
    for (let index = 0; index < 16; index++) {
      register(index)
      expect(await socket.next('done')).toMatchObject({ outcome: { tools: [`editor_open_${index}`] } })
    }
    register(16)
    expect(await socket.next('error')).toMatchObject({ id: 't16', error: { code: 'CONFIG_INVALID' } })
    register(0, [])
    await socket.next('done')
    register(17)
    expect(await socket.next('done')).toMatchObject({ outcome: { tools: ['editor_open_17'] } })
  } finally {
    await served.close()
  }
})

it('a client that has registered nothing has nothing to answer', async () => {
  const served = await serveWs()
  try {
    const socket = await RawSocket.open(served.url)
    socket.say({ type: 'answer', callId: 'none', data: 1 })
    expect((await socket.next('error')).error).toMatchObject({ code: 'NOT_FOUND' })
  } finally {
    await served.close()
  }
})

it('the tools of a session end with it', async () => {
  const served = await serveWs()
  try {
    const socket = await RawSocket.open(served.url)
    socket.say({ type: 'tools', id: 't', name: 'editor', tools: toolsOf('editor_open') } as never)
    await socket.next('done')
    const hasTool = () =>
      served.hub
        .as({ name: 'token:ada' })
        .cards()
        .some(({ name }) => name.includes('open'))
    expect(hasTool()).toBe(true)
    socket.ws.close(1000)
    await expect.poll(hasTool).toBe(false)
  } finally {
    await served.close()
  }
})
