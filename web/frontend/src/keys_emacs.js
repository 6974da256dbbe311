// The keys of Emacs, fetched only by those who choose them.
import { emacs } from "@replit/codemirror-emacs";

export const emacsKeys = () => emacs();
