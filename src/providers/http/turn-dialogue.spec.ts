import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { SpeechPort } from '../ports/audio.port.js';
import { ProviderError } from './provider-error.js';
import { TurnDialogue } from './turn-dialogue.js';

const failure = (code: string) =>
  new ProviderError('http_error', { provider: 'acme', sent: true, upstreamCode: code });
/** The first line is spoken, the second one fails as encoding does that gets too little of the CPU. */
const speech: SpeechPort = {
  speak: ({ text }) => {
    const busy = { retryAfterSeconds: 5 };
    if (text === 'second')
      return Promise.reject(new GatewayError('service_unavailable', 'Busy.', busy));
    return Promise.resolve({ body: Readable.from([Buffer.alloc(4)]), providerRequestId: null });
  },
};

describe('a dialogue that fails here after a part of it was made', () => {
  it('tells SDKs not to retry and names no time to wait (G-51)', async () => {
    const http = { refusal: failure, unusableAnswer: failure };
    const lines = ['first', 'second'].map((text) => ({ text, voiceId: 'v' }));
    const context = { upstreamModel: 'm', signal: new AbortController().signal };
    const asked = new TurnDialogue(speech, http).speakDialogue({ lines, format: 'pcm' }, context);
    const refusal = { code: 'service_unavailable', shouldRetry: false };
    await expect(asked).rejects.toMatchObject({ ...refusal, retryAfterSeconds: undefined });
  });
});
