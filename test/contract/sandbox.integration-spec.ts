import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../src/common/time/clock.js';
import { readBounded } from '../../src/providers/http/response-body.js';
import { ProviderError } from '../../src/providers/http/provider-error.js';
import type { ChatEvent } from '../../src/providers/ports/chat.port.js';
import type { ProviderAudio } from '../../src/providers/ports/audio.port.js';
import { ProviderRegistry } from '../../src/providers/routing/provider-registry.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js';
import { chatCommand } from '../support/chat-command.js';

const MAX_BYTES = 50_000_000;
const VOICE = 'pNInz6obpgDQGcFmaJgB';

/**
 * The adapters and the sandbox upstream must agree on the wire protocol, in success and in every fault that the sandbox
 * can show.
 */
describe('adapters against the sandbox', () => {
  let sandbox: Sandbox;
  let registry: ProviderRegistry;
  beforeAll(async () => {
    sandbox = await startSandbox();
    const { apiKey, url } = sandbox;
    const providers = [
      { id: 'elevenlabs', protocol: 'elevenlabs', baseUrl: `${url}/elevenlabs`, apiKey },
      { id: 'openai', protocol: 'openai', baseUrl: `${url}/openai/v1`, apiKey },
    ] as const;
    registry = new ProviderRegistry({ providers, upstreamTimeoutMs: 2_000 }, new SystemClock());
  });
  afterAll(async () => {
    await registry.onModuleDestroy();
    await sandbox.close();
  });

  const context = (upstreamModel: string) => ({
    upstreamModel,
    signal: new AbortController().signal,
  });
  const audio = (upstreamModel: string) => ({ provider: 'elevenlabs', upstreamModel });
  const openai = (upstreamModel: string) => ({ provider: 'openai', upstreamModel });
  const bytesOf = async (call: Promise<ProviderAudio>): Promise<number> =>
    (await readBounded((await call).body, MAX_BYTES)).length;
  const speak = (text: string, format: 'mp3' | 'opus' | 'pcm' | 'wav' = 'mp3') =>
    bytesOf(
      registry
        .portOf(audio(''), 'speech')!
        .speak({ text, voiceId: VOICE, format }, context('eleven_v3')),
    );

  it.each(['mp3', 'opus', 'pcm', 'wav'] as const)('speaks %s', async (format) => {
    expect(await speak('Hello there.', format)).toBeGreaterThan(1_000);
  });

  it('speaks a dialogue', async () => {
    const lines = [{ text: 'Hello.', voiceId: VOICE }];
    const port = registry.portOf(audio(''), 'dialogue')!;
    const call = port.speakDialogue({ lines, format: 'mp3' }, context('eleven_v3'));
    expect(await bytesOf(call)).toBeGreaterThan(1_000);
  });

  it('makes a sound', async () => {
    const port = registry.portOf(audio(''), 'sound-effect')!;
    const command = { prompt: 'rain', durationSeconds: 0.5, format: 'opus' } as const;
    const call = port.makeSound(command, context('eleven_text_to_sound_v2'));
    expect(await bytesOf(call)).toBeGreaterThan(1_000);
  });

  it('composes', async () => {
    const port = registry.portOf(audio(''), 'composition')!;
    const command = { prompt: 'jazz', durationSeconds: 3, format: 'mp3' } as const;
    expect(await bytesOf(port.compose(command, context('music_v2_5')))).toBeGreaterThan(1_000);
  });

  it.each([
    ['status=400', 'rejected'],
    ['status=401', 'account'],
    ['status=422', 'rejected'],
    ['status=429', 'rate_limited'],
    ['status=500', 'http_error'],
    ['status=503', 'unavailable'],
    ['hang', 'timeout'],
    ['hang-body', 'timeout'],
    ['reset', 'http_error'],
    ['break-body', 'http_error'],
    ['html', 'http_error'],
    ['json', 'http_error'],
    ['empty', 'http_error'],
    ['wrong-format', 'http_error'],
  ])('takes [[sandbox:%s]] for %s', async (magic, kind) => {
    const error: unknown = await speak(`Hello. [[sandbox:${magic}]]`).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ kind, provider: 'elevenlabs', sent: true });
  });

  it('treats an unsupported language as a rejection', async () => {
    const port = registry.portOf(audio(''), 'speech')!;
    const command = { text: 'Hi', voiceId: VOICE, format: 'mp3', language: 'xx' } as const;
    await expect(port.speak(command, context('eleven_v3'))).rejects.toMatchObject({
      kind: 'rejected',
    });
  });

  const messages = [{ role: 'user', content: 'Say something. [[sandbox:tokens=7]]' }];
  const chat = () => registry.portOf(openai(''), 'chat')!;

  it('chats, whole and streamed, with usage', async () => {
    const { answer } = await chat().complete(chatCommand({ messages }, 50), context('gpt-5-mini'));
    expect(answer.usage).toMatchObject({ completionTokens: 7 });

    const { body } = await chat().stream(chatCommand({ messages }, 50), context('gpt-5-mini'));
    const chunks: ChatEvent[] = [];
    for await (const chunk of body) chunks.push(chunk as ChatEvent);
    expect(chunks.at(-1)?.usage).toEqual(answer.usage);
  });

  it.each([
    ['break-after=2', 'http_error'],
    ['hang-after=2', 'timeout'],
    ['error-after=2', 'http_error'],
  ])('breaks a chat stream on [[sandbox:%s]]', async (magic, kind) => {
    const content = `Go on. [[sandbox:tokens=7]] [[sandbox:${magic}]]`;
    const command = chatCommand({ messages: [{ role: 'user', content }] }, 50);
    const drained = (async () => {
      const { body } = await chat().stream(command, context('gpt-5-mini'));
      for await (const chunk of body) expect(chunk).toHaveProperty('native');
    })();
    await expect(drained).rejects.toMatchObject({ kind });
  });

  it.each([
    ['', 'base64'],
    ['[[sandbox:url]]', 'url'],
  ])('draws a picture %s', async (magic, key) => {
    const port = registry.portOf(openai(''), 'image')!;
    const { images } = await port.generateImage(
      { prompt: `a cat ${magic}` },
      context('gpt-image-2'),
    );
    expect(images).toEqual([expect.objectContaining({ [key]: expect.any(String) })]);
  });

  it('treats a response without an image as a failure', async () => {
    const port = registry.portOf(openai(''), 'image')!;
    const call = port.generateImage({ prompt: '[[sandbox:no-data]]' }, context('gpt-image-2'));
    await expect(call).rejects.toMatchObject({ kind: 'http_error' });
  });
});
