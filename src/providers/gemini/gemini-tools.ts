import type { ChatTool, Conversation, ToolChoice } from '../ports/conversation.js';

/** The one field of a tool that takes a text instead of an object. */
const INPUT = 'input';
const INPUT_SCHEMA = {
  type: 'object',
  properties: { [INPUT]: { type: 'string' } },
  required: [INPUT],
};

/** `tools`; undefined where there are none. */
export function declaredToolsOf({ tools }: Conversation): readonly object[] | undefined {
  return tools.length === 0 ? undefined : [{ functionDeclarations: tools.map(declarationOf) }];
}

/** `toolConfig`; undefined where the vendor's own habit is meant. */
export function toolConfigOf({ toolChoice, tools }: Conversation): object | undefined {
  if (toolChoice === undefined || tools.length === 0) return undefined;
  return { functionCallingConfig: callingConfigOf(toolChoice) };
}

function callingConfigOf(choice: ToolChoice): object {
  switch (choice) {
    case 'auto':
      return { mode: 'AUTO' };
    case 'none':
      return { mode: 'NONE' };
    case 'required':
      return { mode: 'ANY' };
    default:
      return { mode: 'ANY', allowedFunctionNames: [choice.name] };
  }
}

function declarationOf(tool: ChatTool): object {
  const { name, description } = tool;
  if (tool.kind === 'function') return { name, description, parametersJsonSchema: tool.parameters };
  const definition = tool.format?.definition;
  const rule = typeof definition === 'string' ? `The input has this form:\n${definition}` : '';
  const text = [description, rule].filter(Boolean).join('\n\n');
  return { name, description: text || undefined, parametersJsonSchema: INPUT_SCHEMA };
}

/** What a call of a custom tool is sent as, for a text that an earlier answer gave it. */
export function inputArguments(text: string): object {
  return { [INPUT]: text };
}

/** The text for a custom tool in the arguments of its call. */
export function customInputOf(args: Readonly<Record<string, unknown>>): string {
  const input = args[INPUT];
  return typeof input === 'string' ? input : JSON.stringify(args);
}
