import { ApiProperty } from '@nestjs/swagger';

/** Lyrics. */
export class LyricsView {
  @ApiProperty({
    example: 'Rain on the window, rain on the sea',
    description: 'The words of the song',
  })
  text!: string;

  @ApiProperty({ required: false, description: 'Title of the song' })
  title?: string;

  @ApiProperty({ required: false, description: 'Style tags' })
  tags?: string;
}

/** A file of the download operation. */
export class SongFileView {
  @ApiProperty({ example: 'wav', description: 'Format of the file' })
  format!: string;

  @ApiProperty({ description: 'Where the file is' })
  url!: string;
}

/** A persona. */
export class PersonaView {
  @ApiProperty({ description: "The provider's id; never sent back" })
  id!: string;
}

/** A model that was made for the caller. */
export class CustomModelView {
  @ApiProperty({ description: "The provider's id; never sent back" })
  id!: string;

  @ApiProperty({ example: 'My model', description: 'Name of the model, as the caller gave it' })
  name!: string;
}

/** Beats per minute. */
export class BpmView {
  @ApiProperty({ example: 120.5, description: 'Beats per minute on average' })
  average!: number;

  @ApiProperty({ required: false, description: 'Fewest beats per minute' })
  min?: number;

  @ApiProperty({ required: false, description: 'Most beats per minute' })
  max?: number;
}

/** A word or line with its times in the track. */
export class TimedLyricView {
  @ApiProperty({ example: 'Rain', description: 'The word or line' })
  text!: string;

  @ApiProperty({ description: 'Seconds' })
  start_s!: number;

  @ApiProperty({ description: 'Seconds' })
  end_s!: number;

  @ApiProperty({ description: 'Whether it was found in the track' })
  success!: boolean;
}

class MidiNoteView {
  @ApiProperty({ example: 60, description: 'MIDI pitch' })
  pitch!: number;

  @ApiProperty({ description: 'Seconds' })
  start!: number;

  @ApiProperty({ description: 'Seconds' })
  end!: number;

  @ApiProperty({ example: 0.8, description: '0 to 1' })
  velocity!: number;
}

class MidiInstrumentView {
  @ApiProperty({ example: 'Piano', description: 'Name of the instrument' })
  name!: string;

  @ApiProperty({ type: [MidiNoteView], description: 'Its notes in their order' })
  notes!: MidiNoteView[];
}

/** The notes of a track. */
export class MidiView {
  @ApiProperty({ description: "The provider's word for the state of the work" })
  state!: string;

  @ApiProperty({ type: [MidiInstrumentView], description: 'The instruments of the track' })
  instruments!: MidiInstrumentView[];
}
