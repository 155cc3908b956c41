import type { Face } from '../faces.js';

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly name?: string;
  readonly input?: unknown;
}
interface Event {
  readonly type: string;
  readonly index?: number;
  readonly content_block?: Block;
  readonly delta?: { readonly text?: string; readonly partial_json?: string };
}

const TOOL = { name: 'get_weather', input_schema: { type: 'object', properties: {} } };

/** Messages. */
export const MESSAGES: Face = {
  name: 'messages',
  path: '/v1/messages',
  headers: { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'claude-code-20250219' },
  body: (model, stream) => ({
    model,
    stream,
    max_tokens: 100,
    messages: [{ role: 'user', content: 'What is the weather in Riga?' }],
    tools: [TOOL],
  }),
  readStream(text) {
    const events = text
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice(6)) as Event);
    const blocks = blocksOf(events);
    return {
      text: blocks.map(({ text: said = '' }) => said).join(''),
      calls: callsOf(blocks),
      isWhole: events.at(0)?.type === 'message_start' && events.at(-1)?.type === 'message_stop',
      hasError: events.some(({ type }) => type === 'error'),
    };
  },
  readJson(json) {
    const { content = [], stop_reason } = json as {
      readonly content?: readonly Block[];
      readonly stop_reason?: string;
    };
    return {
      text: content.map(({ text = '' }) => text).join(''),
      calls: callsOf(content),
      isWhole: stop_reason === 'tool_use',
      hasError: false,
    };
  },
};

/** The blocks as the stock reader puts them together: it throws for an index that is not the next one. */
function blocksOf(events: readonly Event[]): Block[] {
  const blocks: { block: Block; text: string; json: string; isEnded: boolean }[] = [];
  for (const { type, index = -1, content_block: block, delta = {} } of events) {
    if (type === 'content_block_start' && block) {
      if (index !== blocks.length) throw new Error(`block ${index} after ${blocks.length} others`);
      blocks.push({ block, text: '', json: '', isEnded: false });
    }
    const open = blocks[index];
    if (!open) continue;
    if (type === 'content_block_stop') open.isEnded = true;
    if (type !== 'content_block_delta') continue;
    open.text += delta.text ?? '';
    open.json += delta.partial_json ?? '';
  }
  return blocks.map(({ block, text, json, isEnded }) => {
    if (block.type === 'text') return { ...block, text };
    const isCall = block.type === 'tool_use' && isEnded;
    return isCall ? { ...block, input: JSON.parse(json || '{}') as unknown } : block;
  });
}

function callsOf(blocks: readonly Block[]) {
  return blocks
    .filter(({ type }) => type === 'tool_use')
    .map(({ name = '', input }) => ({ name, arguments: input }));
}
