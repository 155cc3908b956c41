import type { AlignmentPort, TranscriptionPort } from './transcript.port.js';
import type { ChatPort } from './chat.port.js';
import type {
  CompositionPort,
  DialoguePort,
  IsolationPort,
  SoundEffectPort,
  SpeechPort,
  VoiceChangePort,
} from './audio.port.js';
import type { EmbeddingPort } from './embedding.port.js';
import type { DubbingPort, VideoPort } from './job.port.js';
import type { ImagePort } from './image.port.js';
import type { AttemptContext } from './attempt.js';
import type { SongPort } from './song.port.js';

/** The port of every operation, under its name in the catalog. */
export interface PortByOperation {
  chat: ChatPort;
  embeddings: EmbeddingPort;
  image: ImagePort;
  speech: SpeechPort;
  dialogue: DialoguePort;
  transcription: TranscriptionPort;
  alignment: AlignmentPort;
  'voice-change': VoiceChangePort;
  isolation: IsolationPort;
  'sound-effect': SoundEffectPort;
  composition: CompositionPort;
  dubbing: DubbingPort;
  song: SongPort;
  video: VideoPort;
}

/** The operations that the gateway offers and providers execute. */
export type Operation = keyof PortByOperation;

/** What one provider can do: the operations of its wire protocol. */
export type ProviderPorts = Partial<PortByOperation>;

/** What a provider answered to a probe. */
export interface ProbeAnswer {
  /** The names of its models; null where it does not list them all. */
  readonly models: readonly string[] | null;
  readonly providerRequestId: string | null;
}

/** Asks a provider for something that costs nothing, with its key. */
export interface ProbePort {
  /** Throws ProviderError. */
  probe(context: Pick<AttemptContext, 'signal'>): Promise<ProbeAnswer>;
}

/** The operations, and how the provider is probed. */
export interface ProbedPorts extends ProviderPorts {
  readonly probe: ProbePort;
}
