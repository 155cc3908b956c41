import { describe, expect, it } from '@jest/globals';
import type { TranscriptionCommand } from '../ports/transcript.port.js';
import { OpenAiTranscription } from './openai-transcription.adapter.js';

const media = { path: '/a.wav', filename: 'a.wav', contentType: 'audio/wav', sizeBytes: 1_000 };
const DIARIZER = 'gpt-4o-transcribe-diarize';

describe('what a model of OpenAI lacks of a transcription', () => {
  it.each<[string, Omit<TranscriptionCommand, 'media'>, string[]]>([
    ['whisper-1', { timestamps: 'word', language: 'en' }, []],
    ['whisper-1', { subtitles: true }, []],
    ['whisper-1', { subtitles: true, timestamps: 'word' }, ['timestamps', 'subtitles']],
    ['whisper-1', { diarize: true, temperature: 1.5 }, ['diarize', 'temperature']],
    [DIARIZER, { diarize: true, subtitles: true }, []],
    [DIARIZER, { diarize: true, subtitles: true, timestamps: 'word' }, ['timestamps']],
    [DIARIZER, { subtitles: true }, ['subtitles']],
    ['gpt-4o-transcribe', {}, []],
    ['gpt-4o-transcribe', { diarize: true, subtitles: true }, ['subtitles', 'diarize']],
    ['gpt-4o-transcribe', { timestamps: 'character', language: 'eng' }, ['timestamps', 'language']],
    ['own/model', { diarize: true, timestamps: 'word', language: 'eng' }, []],
    ['own/model', { numSpeakers: 2, tagAudioEvents: true }, ['num_speakers', 'tag_audio_events']],
  ])('%s with %j: %j', (model, command, fields) => {
    const port = new OpenAiTranscription(undefined as never);
    expect(port.lacks({ ...command, media }, model)).toEqual(fields);
  });
});
