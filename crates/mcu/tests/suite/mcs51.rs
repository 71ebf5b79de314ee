mod firmware;
mod instructions;
mod oracle;
