// Sends a form on that only carries something to another site; its button does the same without this script.
document.querySelector("form[data-send-on]")?.requestSubmit();
