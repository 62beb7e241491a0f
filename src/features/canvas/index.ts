export { SCRIPT_NAMES } from './canvas-scripts.ts'
export { createCanvas } from './create-canvas.ts'
export { pagePolicy } from './page-policy.ts'
