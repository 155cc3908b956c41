import { ModelList } from '../http/model-list.js';
import { ProviderHttp } from '../http/provider-http.js';
import { keyHeader, type ProviderContext } from '../http/provider-context.js';
import type { ProbedPorts } from '../ports/provider-ports.js';
import { ElevenLabsAudio } from './elevenlabs-audio.adapter.js';
import { ElevenLabsDubbing } from './elevenlabs-dubbing.adapter.js';
import { ElevenLabsTranscript } from './elevenlabs-transcript.adapter.js';

/** Everything that a provider with the ElevenLabs wire protocol can do. */
export function elevenLabsPorts(access: ProviderContext): ProbedPorts {
  const http = new ProviderHttp(access, {
    headers: keyHeader(access, 'xi-api-key'),
  });
  const audio = new ElevenLabsAudio(http);
  const transcript = new ElevenLabsTranscript(http);
  return {
    // Not all names that the vendor takes are in its list, so that it says nothing about one of them.
    probe: new ModelList(http, { path: '/v1/models', name: 'none' }),
    speech: audio,
    dialogue: audio,
    transcription: transcript,
    alignment: transcript,
    'voice-change': audio,
    isolation: audio,
    'sound-effect': audio,
    composition: audio,
    dubbing: new ElevenLabsDubbing(http),
  };
}
