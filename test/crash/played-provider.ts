import { randomInt } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const MAX_WORK_MS = 10;
const FAILURE_ONE_IN = 6;
/** One answer in so many takes more output than was asked for. */
const EXCESS_ONE_IN = 12;

/** The usage in one answer of the provider. */
export interface ToldUsage {
  readonly prompt: number;
  /** Null where the answer does not tell it. */
  readonly cached: number | null;
  readonly completion: number;
  /** Whether it is what the request allows, so that it costs at most the hold. */
  readonly isWithinCap: boolean;
}

/** What of a request bounds its usage. */
interface Asked {
  readonly messages: readonly { readonly content: string }[];
  readonly max_completion_tokens?: number;
  readonly max_tokens?: number;
}

/**
 * A provider of chats in a process that is not killed. It tells the usage as OpenAI does, and remembers what it told, by the
 * id of the answer.
 */
export class PlayedProvider {
  readonly told = new Map<string, ToldUsage>();
  private readonly server = createServer((request, response) => {
    response.on('error', () => undefined);
    // A request of a process that was killed ends in the middle.
    this.answer(request, response).catch(() => response.destroy());
  });

  static async start(): Promise<PlayedProvider> {
    const provider = new PlayedProvider();
    await once(provider.server.listen(0, '127.0.0.1'), 'listening');
    return provider;
  }

  /** The base of its API. */
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.on('error', () => undefined);
    const asked = JSON.parse(await text(request)) as Asked;
    await sleep(randomInt(MAX_WORK_MS));
    const id = `req_${this.told.size + 1}`;
    response.setHeader('content-type', 'application/json').setHeader('x-request-id', id);
    if (randomInt(FAILURE_ONE_IN) === 0) {
      response.statusCode = 500;
      response.end('{"error":{"message":"overloaded","type":"server_error"}}');
      return;
    }
    const usage = usageFor(asked);
    this.told.set(id, usage);
    response.end(JSON.stringify(completionOf(id, usage)));
  }
}

function usageFor({ messages, max_completion_tokens, max_tokens }: Asked): ToldUsage {
  const cap = max_completion_tokens ?? max_tokens ?? 0;
  const prompt = randomInt(
    1,
    messages.reduce((sum, { content }) => sum + content.length, 1),
  );
  const isWithinCap = randomInt(EXCESS_ONE_IN) > 0;
  return {
    prompt,
    cached: randomInt(3) === 0 ? null : randomInt(prompt + 1),
    completion: isWithinCap ? randomInt(1, cap + 1) : cap + randomInt(1, 1_000),
    isWithinCap,
  };
}

function completionOf(id: string, { prompt, cached, completion }: ToldUsage): object {
  const message = { role: 'assistant', content: 'Yes.', refusal: null };
  return {
    id: `chatcmpl-${id}`,
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'gpt-5-2025-08-07',
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      ...(cached !== null && {
        prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
      }),
    },
  };
}
