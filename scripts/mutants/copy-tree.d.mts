export function copyTree(root: string): string
