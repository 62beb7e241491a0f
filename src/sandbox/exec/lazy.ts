import { lazyModule } from '../../core/index.ts'

/** What starts long-running programs, such as MCP servers; loaded when the first one is started. */
export const loadPrograms = lazyModule(() => import('./start/index.ts'))
