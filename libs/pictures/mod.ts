/** The public interface of libs/pictures: the check of PNG, JPEG and GIF files, and the removal of their metadata. */
export { type CleanedPicture, cleanPicture, type Picture, type PictureType } from './clean.ts';
export { type PictureFault, pictureFaults } from './fault.ts';
