import { expect, it } from 'vitest'
import { bridgeBinds, bridgeCompanion, PROXY_PORT, PROXY_SOCKET, proxyEnvironment } from './bridge.ts'

it('names the proxy in every variable that programs look at', () => {
  const proxy = 'http://127.0.0.1:3128'
  const local = 'localhost,127.0.0.1,::1'
  expect(proxyEnvironment()).toEqual({
    ...{ HTTP_PROXY: proxy, http_proxy: proxy, HTTPS_PROXY: proxy, https_proxy: proxy },
    ...{ ALL_PROXY: proxy, all_proxy: proxy, NO_PROXY: local, no_proxy: local, NODE_USE_ENV_PROXY: '1' },
  })
  expect(proxyEnvironment(7).HTTPS_PROXY).toBe('http://127.0.0.1:7')
})

it('runs the bridge with little memory, from files that the sandbox has', () => {
  expect([PROXY_SOCKET, PROXY_PORT]).toEqual(['/run/tool-hub/proxy.sock', 3128])
  expect(bridgeCompanion()).toEqual([
    ...['/run/tool-hub/node', '--max-old-space-size=64', '--max-semi-space-size=1', '/run/tool-hub/bridge.mjs'],
    ...['/run/tool-hub/proxy.sock', '3128'],
  ])
  expect(bridgeCompanion({ node: 'n', script: 's', socket: 'x', port: 7 })).toEqual([
    ...['n', '--max-old-space-size=64', '--max-semi-space-size=1', 's', 'x', '7'],
  ])
  expect(bridgeBinds()).toEqual([
    { from: process.execPath, to: '/run/tool-hub/node' },
    { from: expect.stringMatching(/\/guards\/process\/bridge\/bridge-main\.mjs$/), to: '/run/tool-hub/bridge.mjs' },
  ])
})
