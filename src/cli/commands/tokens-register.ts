import { resolve } from 'node:path'
import type { TokenRegister } from '../../server/auth/index.ts'
import { readCliConfig } from '../hub/read-config.ts'

/** Works with the tokens of the data folder that the config names, whether a server uses it at the time or not. */
export async function withTokens<T>(
  flags: { readonly config?: string },
  use: (tokens: TokenRegister) => Promise<T>,
): Promise<T> {
  const { options } = await readCliConfig({ ...flags, plugins: false })
  const { openStore } = await import('../../store/index.ts')
  const { createTokenRegister } = await import('../../server/auth/index.ts')
  const store = openStore(resolve(options.data ?? '.tool-hub'))
  try {
    return await use(createTokenRegister({ store }))
  } finally {
    await store.close()
  }
}
