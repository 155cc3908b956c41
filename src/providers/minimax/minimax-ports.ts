import { listAt } from '../http/json-fields.js';
import { keyHeader, type ProviderContext } from '../http/provider-context.js';
import { ProviderHttp } from '../http/provider-http.js';
import { TurnDialogue } from '../http/turn-dialogue.js';
import { jsonBody } from '../http/request-body.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { ProbeAnswer, ProbedPorts, ProbePort } from '../ports/provider-ports.js';
import { MiniMaxMusic } from './minimax-music.adapter.js';
import { longestSecondsOf, MiniMaxSpeech } from './minimax-speech.adapter.js';

const MAX_LIST_BYTES = 8 * 1024 * 1024;

/** What a provider with MiniMax's wire protocol can do, beside the videos of its vendor file. Its base URL has no path. */
export function miniMaxPorts(access: ProviderContext): ProbedPorts {
  const http = new ProviderHttp(access, { headers: keyHeader(access, 'authorization', 'Bearer ') });
  const speech = new MiniMaxSpeech(http);
  return {
    probe: new VoiceList(http),
    speech,
    dialogue: new TurnDialogue(speech, http, longestSecondsOf),
    composition: new MiniMaxMusic(http, access.download),
  };
}

/** Probes by the list of the vendor's voices, which costs nothing. */
class VoiceList implements ProbePort {
  constructor(private readonly http: ProviderHttp) {}

  probe({ signal }: Pick<AttemptContext, 'signal'>): Promise<ProbeAnswer> {
    const body = jsonBody({ voice_type: 'system' });
    return this.http.requestJson(
      { method: 'POST', path: '/v1/get_voice', body, timeout: 'poll', context: { signal } },
      MAX_LIST_BYTES,
      (json, providerRequestId) =>
        listAt(json, 'system_voice') ? { models: null, providerRequestId } : undefined,
    );
  }
}
