import type { Operation } from '../providers/ports/provider-ports.js';

type Modality = 'text' | 'image' | 'audio' | 'video' | 'speech' | 'transcription';

/** Input and output modalities, in the words of model pickers: only chat models have the output `text`. */
export const MODALITIES: Readonly<
  Record<Operation, readonly [readonly Modality[], readonly Modality[]]>
> = {
  chat: [['text', 'image'], ['text']],
  image: [['text'], ['image']],
  video: [['text', 'image'], ['video']],
  speech: [['text'], ['speech']],
  dialogue: [['text'], ['speech']],
  transcription: [['audio'], ['transcription']],
  alignment: [['audio', 'text'], ['transcription']],
  'voice-change': [['audio'], ['audio']],
  isolation: [['audio'], ['audio']],
  'sound-effect': [['text'], ['audio']],
  composition: [['text'], ['audio']],
  dubbing: [['audio'], ['audio']],
  song: [['text', 'audio'], ['audio']],
};

/** One line of each kind of model. */
export const DESCRIPTIONS: Readonly<Record<Operation, string>> = {
  chat: 'Text model for chats',
  image: 'Images from text',
  video: 'Videos from text and images',
  speech: 'Speech from text',
  dialogue: 'Dialogues of several voices from text',
  transcription: 'Text of a recording',
  alignment: 'Times of the words of a text in its recording',
  'voice-change': 'Another voice for a recording',
  isolation: 'The voice of a recording without its noise',
  'sound-effect': 'Sound effects from text',
  composition: 'Music from text',
  dubbing: 'A recording in another language',
  song: 'Songs, and work on songs',
};
