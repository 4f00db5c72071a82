// The tools that the card knows by what they do, by their names in the core.
const commandTools: ReadonlySet<string> = new Set(['bash', 'powershell'])
const writeTools: ReadonlySet<string> = new Set(['write', 'edit', 'apply_patch'])

/** Whether the tool runs a command text. */
export const isCommand = (tool: string): boolean => commandTools.has(tool)
/** Whether the tool writes files that it names. */
export const isWrite = (tool: string): boolean => writeTools.has(tool)
