import type { Face } from '../faces.js';

interface Item {
  readonly type: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly content?: readonly { readonly text?: string }[];
}
interface Made {
  readonly status: string;
  readonly output: readonly Item[];
}
interface Event {
  readonly type: string;
  readonly delta?: string;
  readonly item?: Item;
  readonly response?: Made;
}

const TOOL = {
  type: 'function',
  name: 'get_weather',
  parameters: { type: 'object', properties: {} },
};

/** Responses. */
export const RESPONSES: Face = {
  name: 'responses',
  path: '/v1/responses',
  body: (model, stream) => ({
    model,
    stream,
    max_output_tokens: 100,
    input: 'What is the weather in Riga?',
    tools: [TOOL],
  }),
  readStream(text) {
    const data = text
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => line.slice(6));
    const events = data
      .filter((each) => each !== '[DONE]')
      .map((each) => JSON.parse(each) as Event);
    const said = events.filter(({ type }) => type === 'response.output_text.delta');
    const ended = events.filter(({ type }) => type === 'response.output_item.done');
    return {
      text: said.map(({ delta = '' }) => delta).join(''),
      calls: callsOf(ended.flatMap(({ item }) => item ?? [])),
      isWhole: events.at(-1)?.type === 'response.completed' && data.at(-1) === '[DONE]',
      hasError: events.some(({ type }) => type === 'error'),
    };
  },
  readJson(json) {
    const { output = [], status } = json as Partial<Made>;
    const parts = output.flatMap(({ content = [], type }) => (type === 'message' ? content : []));
    return {
      text: parts.map(({ text = '' }) => text).join(''),
      calls: callsOf(output),
      isWhole: status === 'completed',
      hasError: false,
    };
  },
};

function callsOf(items: readonly Item[]) {
  return items
    .filter(({ type }) => type === 'function_call')
    .map(({ name = '', arguments: text = '' }) => ({
      name,
      arguments: JSON.parse(text) as unknown,
    }));
}
