import type { ServerResponse } from 'node:http';
import { AUDIO_SAMPLES } from '../contract/audio-samples.js';
import { SECRET_KEY } from './process.js';
import type { SeenRequest, StubUpstream } from './stub-upstream.js';

/** Unlike any other text and unlike our own keys, so that no filter removes it because of its format. */
export const CANARY = {
  prompt: 'canaryPrompt7f3a',
  openaiKey: 'canaryOpenaiKey91bd',
  elevenlabsKey: 'canaryElevenKey52ce',
  adminToken: 'canaryAdminToken6d08',
  wrongToken: 'canaryWrongToken4e77',
  databasePassword: 'canaryDatabase0b6f',
  redisPassword: 'canaryRedis8a1c',
  secretKey: `canarySecretKey2d9e-${SECRET_KEY}`,
  urlPassword: 'canaryUrlPassword3c55',
  signature: 'canarySignature1f0d',
  cookie: 'canaryCookie77aa',
  fileName: 'canaryFileName5e21',
  webhookSecret: 'canaryWebhookSecret4b90',
} as const;

/** The answer of a provider that reveals everything it knows. */
const gossip = ({ headers: sent, body }: SeenRequest): string =>
  `${JSON.stringify(sent)} ${body.toString('latin1')} ${CANARY.prompt}`;
const inShape = (seen: SeenRequest): string => {
  const message = gossip(seen);
  const error = { message, type: 'invalid_request_error', code: 'some_word' };
  return JSON.stringify({ error, detail: { status: 'some_word', message } });
};

/** A provider that answers each of its endpoints. */
export const works = (response: ServerResponse, { url }: SeenRequest): void => {
  if (url.includes('chat')) {
    const choices = [
      { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: '' } },
    ];
    response.end(JSON.stringify({ id: 'x', object: 'chat.completion', choices }));
  } else if (url.includes('images')) {
    response.end(JSON.stringify({ created: 1, data: [{ b64_json: 'AAAA' }] }));
  } else {
    response.end(AUDIO_SAMPLES.mp3);
  }
};

/** Replies of a provider that repeats what it was sent, by endpoint. */
export const MISDEEDS: Readonly<Record<string, StubUpstream['reply']>> = {
  'answers well': works,
  'refuses with 400': (response, seen) => response.writeHead(400).end(inShape(seen)),
  'writes a sentence for a code': (response, seen) =>
    response.writeHead(400).end(JSON.stringify({ error: { code: gossip(seen), message: 'no' } })),
  'writes our key for a code': (response, { headers }) =>
    response
      .writeHead(400)
      .end(JSON.stringify({ error: { code: headers['xi-api-key'] ?? headers.authorization } })),
  'refuses our key': (response, seen) => response.writeHead(401).end(inShape(seen)),
  'limits us': (response, seen) => response.writeHead(429).end(inShape(seen)),
  'fails with 500': (response, seen) => response.writeHead(500).end(gossip(seen)),
  'answers a page': (response, seen) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<html>${gossip(seen)}</html>`),
  'answers JSON of no meaning': (response, seen) => response.end(inShape(seen)),
  'redirects elsewhere': (response) =>
    response.writeHead(302, { location: `http://127.0.0.1:9/${CANARY.prompt}` }).end(),
  'is cut off': (response, seen) => {
    response.writeHead(200, { 'content-length': '100000' });
    response.write(gossip(seen), () => response.destroy());
  },
  'hangs up': (response) => response.destroy(),
};
