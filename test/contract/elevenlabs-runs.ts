import { elevenLabsPorts } from '../../src/providers/elevenlabs/elevenlabs-ports.js';
import { readBounded } from '../../src/providers/http/response-body.js';
import type { AttemptContext } from '../../src/providers/ports/attempt.js';
import type {
  Operation,
  PortByOperation,
  ProviderPorts,
} from '../../src/providers/ports/provider-ports.js';
import type { ProviderAudio } from '../../src/providers/ports/audio.port.js';
import { AUDIO_SAMPLES } from './audio-samples.js';
import type { PortContract } from './port-contract.js';

/** The whole audio of an answer. */
export const audioOf = async ({ body }: ProviderAudio): Promise<Buffer> =>
  readBounded(body, 1_000_000);

/** A good answer with audio, and its result. */
export const goodAudio = (format: keyof typeof AUDIO_SAMPLES): PortContract['good'] => ({
  type: 'audio/mpeg',
  body: AUDIO_SAMPLES[format],
  result: AUDIO_SAMPLES[format],
});

/** Runs one operation of a provider with the ElevenLabs protocol. */
export const runsElevenLabs =
  <O extends Operation>(
    operation: O,
    call: (port: PortByOperation[O], context: AttemptContext) => Promise<unknown>,
  ): PortContract['run'] =>
  (access, context) => {
    const ports: ProviderPorts = elevenLabsPorts(access);
    return call(ports[operation]!, context);
  };
