import { SCRIPT_NAMES } from '../../../abilities/canvas/canvas-scripts.ts'
import { pagePolicy } from '../../../abilities/canvas/page-policy.ts'

/**
 * On every page with a canvas: it has no origin, so no cookie and no storage, and loads nothing but our scripts, wherever
 * it is opened. Only the console may put it into a frame.
 */
export function viewHeaders(place: string | undefined): Record<string, string> {
  const scripts = place === undefined ? [] : SCRIPT_NAMES.map((name) => `${place}/${name}`)
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `sandbox allow-scripts; ${pagePolicy(scripts)}; frame-ancestors 'self'`,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'x-dns-prefetch-control': 'off',
    'permissions-policy':
      'camera=(), clipboard-read=(), clipboard-write=(), display-capture=(), geolocation=(), microphone=()',
    'cache-control': 'no-store',
  }
}
